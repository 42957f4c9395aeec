package reload

// OpenRegular is what File opens with, for what a test cannot make happen
// between its stat and its open.
var OpenRegular = openRegular
