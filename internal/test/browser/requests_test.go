package browser

import "testing"

// TestMoreBudget: an analyst asks for more budget, the owner sees it, what it is for as text, takes
// it over into a top-up or declines it, and the analyst reads the answer.
func TestMoreBudget(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	ana := w.open(t, "/account", "ana")
	const reason = "<img src=x onerror=alert(1)> a revision"
	ask := func(epsilon string) {
		ana.fill("input[name=epsilon]", epsilon)
		ana.fill("input[name=reason]", reason)
		ana.click("button", "^Ask for more$")
		ana.until("it is listed", `e => [...document.querySelectorAll('td.number')].some(d => d.textContent.endsWith(e))`, epsilon)
	}
	ask("0.25")
	ask("0.5")
	ana.reads("waits for the owner")
	olga := w.open(t, "/owner?dataset=hospital", "olga")
	olga.reads("a revision")
	if n := olga.eval(`() => document.querySelectorAll('main img').length`).Int(); n != 0 {
		t.Errorf("%d elements were made of a reason", n)
	}
	olga.click("button", "^Top up…$")
	olga.until("the top-up is what was asked for", `() => document.querySelector('#topup select').value === 'analyst:ana' &&
		['0.25', '0.5'].includes(document.querySelector('#topup input[type=number]').value)`)
	olga.click("button", "^Decline…$")
	olga.fill("form.line input", "ask next month")
	olga.click("button", "^Decline$")
	olga.until("one is left", `() => document.querySelectorAll('[aria-label=Requests] tbody tr').length === 1`)
	for _, l := range screens {
		olga.as(l)
		if over := olga.eval(`() => document.documentElement.scrollWidth - innerWidth`).Int(); over > 0 {
			t.Errorf("%s: %d pixels wider than the screen", l.name, over)
		}
	}
	olga.accessible("requests", nil)
	ana.open("/account")
	ana.reads("declined: ask next month")
	ana.accessible("requests of one's own", nil)
	ana.click("button", "^Withdraw$")
	ana.until("it is gone", `() => document.querySelectorAll('[aria-label=Requests] tbody tr').length === 1`)
	if *screenshots != "" {
		ana.picture(*screenshots+"/requests.png", 1180)
		olga.as(screens[0])
		olga.picture(*screenshots+"/requests-owner.png", 1180)
	}
}

// TestReadAgain: the owner sees what the policy's file would change: nothing, as it is.
func TestReadAgain(t *testing.T) {
	t.Parallel()
	w := ordinary(t)
	olga := w.open(t, "/owner/policy?dataset=hospital", "olga")
	olga.click("button", "^See what would change$")
	olga.reads("The file says what it said before")
	olga.accessible("the policy, read again", nil)
}
