package reload

// OpenRegular opens the files of File. A test cannot replace a file between File's
// stat and its open.
var OpenRegular = openRegular
