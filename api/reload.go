package api

// Reloaded is what came of reading the policy again while its data is open.
type Reloaded struct {
	// Changes are what the policy says differently. There may be none.
	Changes []PolicyChange `json:"changes"`
	// Applied says that questions are asked under the new policy from now on.
	Applied bool `json:"applied"`
}

// PolicyChange is one thing that a policy says differently, in words.
type PolicyChange struct {
	Dataset string `json:"dataset"`
	// What is what changes, such as "bounds of patients.age". Was and Is are what was and is said
	// of it; one is empty where something came or went.
	What string `json:"what"`
	Was  string `json:"was"`
	Is   string `json:"is"`
	// Means is what it does to answers.
	Means string `json:"means"`
}
