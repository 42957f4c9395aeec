package fleet

// Token and Untoken are token and untoken.
var (
	Token   = token
	Untoken = untoken
)
