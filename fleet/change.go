package fleet

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// Change is an entry of the history: who changed a plan, when, how and why.
type Change struct {
	Epoch    uint64     `json:"epoch"`
	Seq      uint64     `json:"seq"` // of the plan that it made
	At       time.Time  `json:"at"`  // by the clock of the server, for people
	By       string     `json:"by"`  // the name of the token, or "fleetd"
	Kind     Kind       `json:"kind"`
	From     string     `json:"from,omitempty"` // revision
	To       string     `json:"to,omitempty"`   // revision
	Selected *Selection `json:"selected,omitempty"`
	Why      string     `json:"why,omitempty"`
}

// Kind is a kind of change.
type Kind string

// The changes of a plan.
const (
	KindPublish  Kind = "publish"  // Revision becomes stable; ends a canary
	KindCanary   Kind = "canary"   // the replicas of Selection try Revision
	KindPromote  Kind = "promote"  // the canary becomes stable
	KindRollback Kind = "rollback" // ends a canary, or goes back to Previous, or to Revision
	KindRollout  Kind = "rollout"  // Revision in Steps, each watched for Bake
	KindPin      Kind = "pin"      // the replica ID stays with Revision
	KindUnpin    Kind = "unpin"    // ends the pin of ID
	KindPause    Kind = "pause"    // replicas that run something stay with it
	KindResume   Kind = "resume"   // ends a pause

	// The server makes these by itself.
	KindHold   Kind = "hold"   // a canary is not to be promoted
	KindWiden  Kind = "widen"  // a rollout takes its next step
	KindRepair Kind = "repair" // a plan that could not be read, or that replicas were ahead of
)

// Operation asks the server for a change of a plan: the body of PATCH.
type Operation struct {
	Kind      Kind          `json:"kind"`
	Revision  string        `json:"revision,omitempty"`
	Selection               // of KindCanary
	Previous  string        `json:"previous,omitempty"` // of KindPublish: what a rollback goes back to; "": what was stable, if replicas ran it
	ID        string        `json:"id,omitempty"`       // of KindPin and KindUnpin
	Steps     []float64     `json:"steps,omitempty"`    // shares, growing; 1 is added at the end if it is missing
	Bake      time.Duration `json:"bake_ns,omitempty"`  // how long each step is watched
	Why       string        `json:"why,omitempty"`
}

// MaxWhy bounds the bytes of Operation.Why.
const MaxWhy = 1000

// Rollout widens the canary of its plan step by step. A step ends well when its
// replicas run the revision and were healthy for Bake.
type Rollout struct {
	Steps []float64     `json:"steps"` // shares, growing to 1
	Step  int           `json:"step"`  // index in Steps
	Bake  time.Duration `json:"bake_ns"`
	By    string        `json:"by"` // who began it
}

// maxSteps bounds Operation.Steps.
const maxSteps = 20

// Check returns an error for an operation that no plan allows.
func (o *Operation) Check() error {
	var err error
	needsRevision := slices.Contains([]Kind{KindPublish, KindCanary, KindRollout, KindPin}, o.Kind)
	switch {
	case needsRevision && o.Revision == "":
		return fmt.Errorf("%s needs a revision", o.Kind)
	case o.Previous != "" && (o.Kind != KindPublish || o.Previous == o.Revision):
		return fmt.Errorf("only publish has a previous revision, and it is another one than the revision")
	case len(o.Why) > MaxWhy:
		return fmt.Errorf("the reason has %d bytes, more than %d", len(o.Why), MaxWhy)
	}
	switch o.Kind {
	case KindPublish, KindPromote, KindRollback, KindPause, KindResume:
	case KindCanary:
		err = o.Selection.Check()
	case KindRollout:
		if err = checkSteps(o.Steps, o.Bake); err == nil && (o.Share != 0 || len(o.Labels) > 0 || len(o.IDs) > 0) {
			err = errors.New("a rollout goes to all replicas in the end: its steps are shares, without labels and ids")
		}
	case KindPin, KindUnpin:
		err = CheckName("id of the replica", o.ID)
	default:
		err = fmt.Errorf("%q is no change that can be asked for", o.Kind)
	}
	return err
}

func checkSteps(steps []float64, bake time.Duration) error {
	if len(steps) == 0 || len(steps) > maxSteps {
		return fmt.Errorf("a rollout has 1 to %d steps, not %d", maxSteps, len(steps))
	}
	last := 0.0
	for _, share := range steps {
		if math.IsNaN(share) || share <= last || share > 1 {
			return fmt.Errorf("the steps of a rollout grow from above 0 to 1, and %g follows %g", share, last)
		}
		last = share
	}
	if bake <= 0 || bake > 30*24*time.Hour {
		return fmt.Errorf("each step of a rollout is watched for some time, up to 30 days, not %v", bake)
	}
	return nil
}
