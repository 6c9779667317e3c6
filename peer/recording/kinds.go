package recording

import (
	"reflect"

	"github.com/switchyard-hpc/switchyard/peer/event"
)

// events has one of each kind of event.
func events() []event.Event {
	return []event.Event{
		event.Tick{},
		event.ClockSet{},
		event.MessageIn{},
		event.Connected{},
		event.Disconnected{},
		event.DigestSeen{},
		event.MemberSeen{},
		event.CallDone{},
		event.Submit{},
		event.Cancel{},
		event.SetHold{},
		event.SetDrain{},
		event.Update{},
		event.Requeue{},
		event.Recover{},
		event.AskRecovery{},
		event.Reconfigure{},
		event.SetPartners{},
		event.ChangePrices{},
		event.TestSubmit{},
		event.AskQueue{},
		event.AskJob{},
		event.AskOutput{},
		event.AskSites{},
		event.AskShares{},
		event.AskRunHistory{},
	}
}

// results has one of each kind of result.
func results() []event.Result {
	return []event.Result{
		event.QuoteResult{},
		event.SubmitResult{},
		event.StageInResult{},
		event.LookupResult{},
		event.WithdrawResult{},
		event.KillResult{},
		event.WatchResult{},
		event.ForgetResult{},
		event.PrioritizeResult{},
		event.PlannedStartsResult{},
		event.CollectResult{},
		event.DiscardResult{},
		event.DecideResult{},
		event.PriceResult{},
		event.ParetoResult{},
		event.ReserveResult{},
		event.CancelReservationResult{},
		event.ArchiveResult{},
	}
}

// kinds are the types of closed sets by the set and their name.
type kinds map[reflect.Type]map[string]reflect.Type

func newKinds() kinds {
	k := kinds{}
	enter(k, events())
	enter(k, results())
	return k
}

func enter[Set any](k kinds, all []Set) {
	names := map[string]reflect.Type{}
	for _, one := range all {
		names[reflect.TypeOf(one).Name()] = reflect.TypeOf(one)
	}
	k[reflect.TypeFor[Set]()] = names
}
