package rollout

import (
	"context"
	"net"
	"sync/atomic"
)

// wire counts the bytes that go through connections, protocol included.
type wire struct{ sent, received atomic.Int64 }

func (w *wire) bytes() float64 { return float64(w.sent.Load() + w.received.Load()) }

// Dial implements nats.CustomDialer.
func (w *wire) Dial(network, address string) (net.Conn, error) {
	return w.dialContext(context.Background(), network, address)
}

func (w *wire) dialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &countedConn{c, w}, nil
}

type countedConn struct {
	net.Conn
	wire *wire
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.wire.received.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	c.wire.sent.Add(int64(n))
	return n, err
}
