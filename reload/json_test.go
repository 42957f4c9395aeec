package reload_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/poolswap/poolswap/reload"
)

func TestStatusAsJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, fake := faked(reload.Options{})
		push(fake, "content")
		if err := r.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		fake.Fail(errors.New("no route"))
		r.Reload(t.Context())
		got, err := json.Marshal(r.Status())
		if err != nil {
			t.Fatal(err)
		}
		want := `{"source":"fake","state":"stale","revision":"1","version":1,` +
			`"loaded":"2000-01-01T00:00:00Z","checked":"2000-01-01T00:00:00Z","age_seconds":3,"size_bytes":7,"fetch_seconds":0,"load_seconds":0,` +
			`"failures":1,"error":"reload: fake: fetch: no route (version 1 stays; it is tried again)","failed":"2000-01-01T00:00:03Z",` +
			`"attempts":2,"swaps":1,"total_failures":1}`
		if text := strings.ReplaceAll(string(got), "+00:00", "Z"); text != want {
			t.Errorf("the JSON is\n%s, want\n%s", text, want)
		}
	})
}

// A field that is added to Status must come into its JSON.
func TestEachFieldOfStatusAndEventIsInTheJSON(t *testing.T) {
	t.Parallel()
	for _, full := range []any{&reload.Status{}, &reload.Event{}} {
		v := reflect.ValueOf(full).Elem()
		plain := marshalled(t, v.Interface())
		for i := range v.NumField() {
			field, name := v.Field(i), v.Type().Field(i).Name
			if !v.Type().Field(i).IsExported() {
				continue
			}
			switch field.Interface().(type) {
			case string:
				field.SetString("x")
			case reload.Outcome:
				field.Set(reflect.ValueOf(reload.Loaded))
			case uint64:
				field.SetUint(7)
			case int, int64, time.Duration:
				field.SetInt(7)
			case time.Time:
				field.Set(reflect.ValueOf(time.Unix(7, 0)))
			case error, nil:
				field.Set(reflect.ValueOf(errBad))
			default:
				t.Fatalf("%s has the type %v", name, field.Type())
			}
			if marshalled(t, v.Interface()) == plain {
				t.Errorf("%T.%s is not in the JSON", v.Interface(), name)
			}
			field.SetZero()
		}
	}
}

func marshalled(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
