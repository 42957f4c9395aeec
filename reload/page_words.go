package reload

import (
	"errors"
	"fmt"
	"time"

	"github.com/poolswap/poolswap"
)

// failureInWords says in words why attempts fail.
func failureInWords(err error) string {
	var failure *Error
	switch {
	case !errors.As(err, &failure):
	case failure.Refused:
		return "The newest content was refused."
	case failure.Stage == Fetching, failure.Stage == Reading:
		return "The source cannot be read."
	case failure.Stage == Verifying:
		return "The newest content did not pass its check."
	case failure.Stage == Publishing && errors.Is(err, poolswap.ErrLimit):
		return "There is newer content, but readers hold every object."
	}
	return "The newest content could not be loaded."
}

// stageInWords says where an attempt failed.
func stageInWords(err error) string {
	var failure *Error
	if !errors.As(err, &failure) {
		return "failed"
	}
	switch failure.Stage {
	case Fetching:
		return "when it asked the source"
	case Reading:
		return "when it read the content"
	case Loading:
		return "when it loaded the content"
	case Verifying:
		return "when it verified the content"
	}
	return "when it published the content"
}

// causeOfFailure returns err without the facts that the page shows elsewhere.
func causeOfFailure(err error) error {
	var failure *Error
	if errors.As(err, &failure) {
		return failure.Err
	}
	return err
}

// outcomeInWords tells bad content from other failures.
func outcomeInWords(e Event) string {
	var failure *Error
	if errors.As(e.Err, &failure) && failure.Refused {
		return "refused"
	}
	return string(e.Outcome)
}

// span returns a duration in the unit that people would use for it.
func span(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2g ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// count returns a number of things.
func count(n any, thing string) string {
	text := fmt.Sprint(n)
	if text == "1" {
		return text + " " + thing
	}
	return text + " " + thing + "s"
}

func bytesInWords(n int64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	value, unit := float64(n), 0
	for ; value >= 1024 && unit < len(units)-1; unit++ {
		value /= 1024
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}
