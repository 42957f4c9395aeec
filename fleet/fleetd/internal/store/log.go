package store

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// serverLogger passes on the errors and warnings of the server of NATS, each kind once
// a minute: a node that is away is an error for each attempt to reach it.
type serverLogger struct {
	log   *slog.Logger
	fatal atomic.Value // string: why the server cannot start
	stuck *atomic.Bool // is set when the server cannot write: the log alone tells

	mu   sync.Mutex
	last map[string]time.Time // by kind
}

const logEvery = time.Minute

func (l *serverLogger) Noticef(format string, v ...any) { l.write(slog.LevelDebug, format, v) }
func (l *serverLogger) Warnf(format string, v ...any)   { l.write(slog.LevelWarn, format, v) }
func (l *serverLogger) Debugf(string, ...any)           {}
func (l *serverLogger) Tracef(string, ...any)           {}

func (l *serverLogger) Errorf(format string, v ...any) {
	if strings.Contains(strings.ToLower(format), "critical write error") {
		l.stuck.Store(true)
	}
	l.write(slog.LevelError, format, v)
}

func (l *serverLogger) Fatalf(format string, v ...any) {
	if text := fmt.Sprintf(format, v...); !aboutNoPort(text) {
		l.fatal.Store(text)
	}
}

func (l *serverLogger) write(level slog.Level, format string, v []any) {
	text := fmt.Sprintf(format, v...)
	kind := format[strings.LastIndex(format, " - ")+1:] // a connection is named before that
	l.mu.Lock()
	if time.Since(l.last[kind]) < logEvery || aboutNoPort(text) {
		level = slog.LevelDebug
	} else {
		l.last[kind] = time.Now()
	}
	l.mu.Unlock()
	l.log.Log(context.Background(), level, "fleetd: NATS: "+text)
}

// aboutNoPort reports whether a text is about the port that does not exist.
func aboutNoPort(text string) bool { return strings.Contains(text, strconv.Itoa(noPort)) }
