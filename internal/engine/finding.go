package engine

// Finding is something about the data that the owner should know. It is for the
// owner alone: it depends on the data, though it quotes none of it.
type Finding struct {
	Table  string `json:"table"`
	Column string `json:"column,omitempty"`
	// Broken says that the guarantee does not hold until this is mended.
	Broken bool `json:"broken"`
	// Unread says that the data, or most of a column, is not read: answers about it would be
	// about nothing.
	Unread bool   `json:"unread"`
	Text   string `json:"text"`
}
