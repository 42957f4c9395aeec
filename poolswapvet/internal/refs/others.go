package refs

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Others has the analyzers look at the references of other packages, too, in code that
// was not written for them.
func Others() {
	for path, names := range map[string]map[string]Kind{
		"os":       {"Open": OpenReader, "Create": OpenReader, "OpenFile": OpenReader, "File.Close": CloseReader},
		"net":      {"Dial": OpenReader, "Listen": OpenReader},
		"net/http": {"Get": Own, "Post": Own, "Client.Do": Own, "Client.Get": Own, "Client.Post": Own},
		"database/sql": {
			"DB.Query": OpenReader, "DB.QueryContext": OpenReader, "Tx.Query": OpenReader, "Tx.QueryContext": OpenReader,
			"Stmt.Query": OpenReader, "Stmt.QueryContext": OpenReader, "Rows.Close": CloseReader,
			"DB.Begin": Own, "DB.BeginTx": Own, "Tx.Commit": CloseReader, "Tx.Rollback": CloseReader,
		},
		"archive/zip":                         {"OpenReader": OpenReader, "ReadCloser.Close": CloseReader},
		"compress/gzip":                       {"NewReader": OpenReader, "Reader.Close": CloseReader},
		"time":                                {"NewTicker": OpenReader, "Ticker.Stop": CloseReader},
		"github.com/jackc/puddle/v2":          {"Pool.Acquire": Acquire, "Pool.TryAcquire": Acquire, "Resource.Release": Release, "Resource.ReleaseUnused": Release, "Resource.Destroy": Release, "Resource.Hijack": Release},
		"github.com/jackc/pgx/v5/pgxpool":     {"Pool.Acquire": Acquire, "Conn.Release": Release, "Conn.Hijack": Release},
		"github.com/cockroachdb/pebble":       {"DB.NewIter": Acquire, "Snapshot.NewIter": Acquire, "DB.NewSnapshot": Acquire, "Iterator.Close": Release, "Snapshot.Close": Release},
		"github.com/cockroachdb/pebble/v2":    {"DB.NewIter": Acquire, "Snapshot.NewIter": Acquire, "DB.NewSnapshot": Acquire, "Iterator.Close": Release, "Snapshot.Close": Release},
		"github.com/dgraph-io/badger/v4":      {"DB.NewTransaction": Acquire, "Txn.Discard": CloseReader, "Txn.NewIterator": Acquire, "Iterator.Close": Release},
		"github.com/syndtr/goleveldb/leveldb": {"DB.GetSnapshot": Acquire, "Snapshot.Release": Release},
	} {
		calls[path] = names
	}
	bodies = true
}

// bodies is true if the Body of an HTTP response that is closed gives the response back.
var bodies bool

// isBody reports whether the instruction takes the address of a response's Body.
func isBody(use ssa.Instruction) (field *ssa.FieldAddr, ok bool) {
	if field, ok = use.(*ssa.FieldAddr); !ok || !bodies {
		return nil, false
	}
	return field, isResponse(field.X.Type()) &&
		field.X.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct).Field(field.Field).Name() == "Body"
}

// isResponse reports whether the type is that of an HTTP response, which is there still when
// its Body is closed.
func isResponse(t types.Type) bool { return t.String() == "*net/http.Response" }

// body notes what becomes of the Body: a Close gives the response back, and a Read and
// what package io does with it are uses.
func (p *Program) body(f *Flow, field *ssa.FieldAddr) {
	for _, load := range *field.Referrers() {
		body, ok := load.(*ssa.UnOp)
		if !ok {
			f.Escapes = f.Escapes || !isDebug(load)
			continue
		}
		for _, use := range *body.Referrers() {
			switch use := use.(type) {
			case *ssa.DebugRef, *ssa.BinOp:
			case ssa.CallInstruction:
				p.bodyCall(f, body, use)
			case *ssa.ChangeInterface:
				for _, use := range *use.Referrers() {
					if call, ok := use.(ssa.CallInstruction); ok {
						p.bodyCall(f, body, call)
					} else {
						f.Escapes = true
					}
				}
			default:
				f.Escapes = true
			}
		}
	}
}

func (p *Program) bodyCall(f *Flow, body ssa.Value, use ssa.CallInstruction) {
	_, isDefer := use.(*ssa.Defer)
	called := use.Common().StaticCallee()
	switch {
	case use.Common().Value == body && use.Common().Method.Name() == "Close" && isDefer:
		f.Defers = append(f.Defers, use)
	case use.Common().Value == body && use.Common().Method.Name() == "Close":
		f.Releases = append(f.Releases, use)
	case use.Common().Value == body:
		f.Uses = append(f.Uses, use)
	case called != nil && called.Pkg != nil && (called.Pkg.Pkg.Path() == "io" || called.Pkg.Pkg.Path() == "encoding/json"):
		f.Uses = append(f.Uses, use)
	default:
		f.Escapes = true
	}
}
