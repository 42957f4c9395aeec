package fleet

// What tests of the package see besides.
var (
	Token   = token
	Untoken = untoken
	Choose  = choose
)
