package record

import (
	"reflect"

	"github.com/switchyard-hpc/switchyard/peer"
)

// events has one of each kind of event.
func events() []peer.Event {
	return []peer.Event{
		peer.Tick{},
		peer.ClockSet{},
		peer.MessageIn{},
		peer.Connected{},
		peer.Disconnected{},
		peer.DigestSeen{},
		peer.MemberSeen{},
		peer.CallDone{},
		peer.Submit{},
		peer.Cancel{},
		peer.Requeue{},
		peer.Recover{},
		peer.AskRecovery{},
		peer.Retune{},
		peer.SetPartners{},
		peer.TestSubmit{},
		peer.AskQueue{},
		peer.AskJob{},
		peer.AskOutput{},
		peer.AskSites{},
		peer.AskWarehouse{},
	}
}

// results has one of each kind of result.
func results() []peer.Result {
	return []peer.Result{
		peer.QuoteResult{},
		peer.SubmitResult{},
		peer.FindResult{},
		peer.WithdrawResult{},
		peer.KillResult{},
		peer.WatchResult{},
		peer.ForgetResult{},
		peer.CollectResult{},
		peer.DiscardResult{},
		peer.DecideResult{},
		peer.PriceResult{},
		peer.FrontResult{},
		peer.ReserveResult{},
		peer.ReleaseResult{},
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
