package fleet

import (
	"log/slog"
	"time"

	"github.com/nats-io/nats.go"
)

// pingInterval is how often a connection asks whether the server is there.
const pingInterval = 30 * time.Second

// ReplicaOptions returns options for the connection of a replica: it need not be
// there when the replica starts, comes back by itself however long the server is
// away, and is not given up after credentials were refused. Give credentials that
// can change by nats.UserCredentials, nats.UserJWT or nats.UserInfoHandler, which
// are asked at each connection.
//
// They log to logger, or with nil to slog.Default(): Info for each connection, Warn
// for a lost one, for each attempt that fails and for errors of the connection.
func ReplicaOptions(logger *slog.Logger) []nats.Option {
	if logger == nil {
		logger = slog.Default()
	}
	connected := func(conn *nats.Conn) {
		logger.Info("fleet: connected", slog.String("server", conn.ConnectedUrlRedacted()))
	}
	warn := func(message string, err error) {
		if err != nil { // nil: the connection was closed by the program
			logger.Warn("fleet: "+message, slog.Any("error", err))
		}
	}
	return []nats.Option{
		nats.RetryOnFailedConnect(true),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // otherwise the second refusal closes the connection for ever
		nats.PingInterval(pingInterval),
		nats.ConnectHandler(connected),
		nats.ReconnectHandler(connected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { warn("the connection to the server is lost", err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { warn("there is no connection to the server", err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			warn("the connection to the server has an error", err)
		}),
	}
}
