package seam

import "errors"

// ErrNoMembarrier is what RegisterMembarrier and Membarrier return where the
// platform or the build has no such call.
var ErrNoMembarrier = errors.New("membarrier is not available in this build")
