package seam

import "errors"

// ErrNoMembarrier is returned by RegisterMembarrier and Membarrier if the
// platform or the build has no such call.
var ErrNoMembarrier = errors.New("membarrier is not available in this build")
