package peerv1

import (
	"github.com/switchyard-hpc/switchyard/protocol"
	commonv1 "github.com/switchyard-hpc/switchyard/protocol/common/v1"
	"github.com/switchyard-hpc/switchyard/protocol/wire"
)

func wireAssociations(t *protocol.AssociationTable) *AssociationTable {
	if t == nil {
		return nil
	}
	return &AssociationTable{Priced: t.Priced, Rules: wire.Convert(t.Rules, func(r protocol.AssociationRule) *AssociationRule {
		return &AssociationRule{
			User: r.User, Account: r.Account, Partition: r.Partition, Qos: r.QOS, Ignore: r.Ignore, Refuse: r.Refuse,
			As: commonv1.EncodeAssociation(protocol.Association{Account: r.AsAccount, Partition: r.AsPartition, QOS: r.AsQOS}),
		}
	})}
}

// readAssociations does not check, which [checkAssociations] does. The rules are for all that the receiver
// submits.
func readAssociations(w *AssociationTable) *protocol.AssociationTable {
	if w == nil {
		return nil
	}
	return &protocol.AssociationTable{Priced: w.GetPriced(), Rules: wire.Convert(w.GetRules(), func(r *AssociationRule) protocol.AssociationRule {
		return protocol.AssociationRule{
			Origin: "*", User: r.GetUser(), Account: r.GetAccount(), Partition: r.GetPartition(), QOS: r.GetQos(),
			AsAccount: r.GetAs().GetAccount(), AsPartition: r.GetAs().GetPartition(), AsQOS: r.GetAs().GetQos(),
			Ignore: r.GetIgnore(), Refuse: r.GetRefuse(),
		}
	})}
}

func checkAssociations(t *protocol.AssociationTable) error {
	if t == nil {
		return nil
	}
	return wire.In("associations", t.CheckAssociationTable())
}
