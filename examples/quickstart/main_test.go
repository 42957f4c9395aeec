package main

func Example() {
	main()
	// Output:
	// a reader that began before: [a.example]
	// a reader that begins now: [b.example c.example]
	// objects that readers still hold: 0
}
