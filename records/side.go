package records

// Side says which of the two arms of a study a process belongs to. A is the
// reference; every change is stated as B against A.
type Side string

// The two sides of a study.
const (
	SideA Side = "A"
	SideB Side = "B"
)

// Sides lists both sides in the order in which reports show them.
var Sides = [2]Side{SideA, SideB}

// Other returns the opposite side.
func (s Side) Other() Side {
	if s == SideA {
		return SideB
	}
	return SideA
}

// Valid reports whether s is A or B.
func (s Side) Valid() bool { return s == SideA || s == SideB }
