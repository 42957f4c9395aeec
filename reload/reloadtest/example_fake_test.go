package reloadtest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/poolswap/poolswap"
	"github.com/poolswap/poolswap/reload"
	"github.com/poolswap/poolswap/reload/reloadtest"
)

// Greeting is the object of the service under test.
type Greeting struct {
	poolswap.Ref
	text string
}

func newGreetings(source reload.Source) (*poolswap.Container[Greeting, *Greeting], *reload.Reloader) {
	greetings := poolswap.NewEmptyContainer(poolswap.NewPool(func() *Greeting { return new(Greeting) }, nil))
	return greetings, reload.New(greetings, source, func(_ context.Context, next, _ *Greeting, content *reload.Content) error {
		text, err := io.ReadAll(content.Body)
		next.text = string(text)
		if err == nil && next.text == "" {
			err = errors.New("an empty greeting")
		}
		return err
	}, reload.Options{})
}

func greet(greetings *poolswap.Container[Greeting, *Greeting]) (text string) {
	greetings.WithAcquire(func(g *Greeting) {
		if g != nil {
			text = g.text
		}
	})
	return text
}

// A test of a service sets the content of the source, and how it fails.
func ExampleFake() {
	ctx := context.Background()
	source := new(reloadtest.Fake)
	greetings, reloader := newGreetings(source)
	source.Push([]byte("hello"))
	fmt.Println(reloader.Reload(ctx), greet(greetings))
	source.Push([]byte("good morning"))
	source.Truncate(4, nil) // the connection breaks
	fmt.Println(reloader.Reload(ctx) != nil, greet(greetings))
	source.Push(nil) // content that load refuses
	fmt.Println(reloader.Reload(ctx) != nil, greet(greetings))
	source.Push([]byte("good evening"))
	fmt.Println(reloader.Reload(ctx), greet(greetings), source.Open())
	// Output:
	// <nil> hello
	// true hello
	// true hello
	// <nil> good evening 0
}

func read(content *reload.Content, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer content.Body.Close()
	text, err := io.ReadAll(content.Body)
	return string(text), err
}

func ExampleFake_Push() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	fmt.Println(read(source.Fetch(context.Background(), "")))
	// Output: hello <nil>
}

func ExampleFake_Fetch() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	_, err := source.Fetch(context.Background(), "1") // the revisions are 1, 2 and so on
	fmt.Println(err)
	// Output: reload: not modified
}

func ExampleFake_Put() {
	source := new(reloadtest.Fake)
	source.Put(new(testing.T), []byte("hello"))
	fmt.Println(read(source.Fetch(context.Background(), "")))
	// Output: hello <nil>
}

func ExampleFake_Remove() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	source.Remove(new(testing.T))
	_, err := source.Fetch(context.Background(), "")
	fmt.Println(err)
	// Output: reloadtest: nothing was pushed
}

func ExampleErrEmpty() {
	_, err := new(reloadtest.Fake).Fetch(context.Background(), "")
	fmt.Println(errors.Is(err, reloadtest.ErrEmpty))
	// Output: true
}

func ExampleFake_Fail() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	source.Fail(errors.New("no route to host"))
	_, err := source.Fetch(context.Background(), "")
	fmt.Println(err)
	// Output: no route to host
}

func ExampleFake_Delay() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	source.Delay(time.Hour)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err := source.Fetch(ctx, "")
	fmt.Println(err)
	// Output: context deadline exceeded
}

func ExampleFake_Truncate() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	source.Truncate(4, io.ErrUnexpectedEOF)
	fmt.Println(read(source.Fetch(context.Background(), "")))
	// Output: hell unexpected EOF
}

// A test counts the fetches of a service.
func ExampleFake_Fetches() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	_, reloader := newGreetings(source)
	for range 3 {
		_ = reloader.Reload(context.Background())
	}
	fmt.Println(source.Fetches())
	// Output: 3
}

func ExampleFake_Open() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	content, _ := source.Fetch(context.Background(), "")
	fmt.Println(source.Open())
	fmt.Println(content.Body.Close(), source.Open())
	// Output:
	// 1
	// <nil> 0
}

func ExampleFake_Wait() {
	source := new(reloadtest.Fake)
	source.Push([]byte("hello"))
	time.AfterFunc(time.Millisecond, func() { source.Push([]byte("good morning")) })
	fmt.Println(source.Wait(context.Background(), "1"))
	// Output: <nil>
}

func ExampleFake_String() {
	fmt.Println(new(reloadtest.Fake))
	// Output: fake
}
