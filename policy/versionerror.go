package policy

// VersionError says that the owner's version query gives no version. Its text is the same whatever
// the data is; Problem and Err are for the owner's eyes.
type VersionError struct {
	Dataset string
	Problem string
	Err     error // in the words of the database, which may quote data
}

func (e *VersionError) Error() string {
	return "the version query of the dataset " + e.Dataset + " does not name the data; ask the owner to run 'discreet check', which says " +
		"why"
}

// Explain says what is wrong, to the owner.
func (e *VersionError) Explain() string {
	text := "the version query of the dataset " + e.Dataset + " " + e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}
