package workload

// SuperschedulerMachines returns the six machines of [SS] Table 1, M1 to M6.
func SuperschedulerMachines() [6]Machine {
	return [6]Machine{
		{Name: "M1", Nodes: 192, CPUsPerNode: 16, MHz: 375},
		{Name: "M2", Nodes: 305, CPUsPerNode: 4, MHz: 332},
		{Name: "M3", Nodes: 144, CPUsPerNode: 8, MHz: 375},
		{Name: "M4", Nodes: 8, CPUsPerNode: 16, MHz: 1300},
		{Name: "M5", Nodes: 74, CPUsPerNode: 4, MHz: 375},
		{Name: "M6", Nodes: 180, CPUsPerNode: 4, MHz: 375},
	}
}

// tableRow is a line of [SS] Tables 2 to 4 as printed.
type tableRow struct {
	low, high        int
	percent          float64
	arrival, service HyperErlang
}

func tableModel(m Machine, rows []tableRow) Model {
	model := Model{Machine: m}
	for _, r := range rows {
		model.Classes = append(model.Classes, Class{
			Min: r.low, Max: r.high, Share: r.percent / 100, Arrival: r.arrival, Service: r.service,
		})
	}
	return model
}

// M1 returns the model of the 192 × 16 CPUs of NERSC, Table 2 of [SS].
func M1() Model {
	return tableModel(SuperschedulerMachines()[0], []tableRow{
		{1, 16, 43.0, HyperErlang{1, 2.75e-04, 4.71e-03, 0.0197}, HyperErlang{1, 9.10e-05, 4.55e-03, 0.4695}},
		{17, 32, 15.2, HyperErlang{1, 1.44e-04, 2.41e-03, 0.0571}, HyperErlang{2, 1.04e-04, 2.74e-03, 0.3119}},
		{33, 48, 2.12, HyperErlang{1, 2.37e-05, 4.36e-04, 0.0847}, HyperErlang{1, 7.22e-05, 2.99e-03, 0.3319}},
		{49, 112, 27.9, HyperErlang{1, 2.22e-04, 4.16e-03, 0.0448}, HyperErlang{1, 7.31e-05, 3.94e-03, 0.2241}},
		{113, 240, 6.21, HyperErlang{1, 1.62e-04, 1.41e-03, 0.2253}, HyperErlang{1, 6.03e-05, 3.80e-04, 0.4072}},
		{241, 3072, 5.57, HyperErlang{1, 1.42e-04, 3.11e-03, 0.2728}, HyperErlang{1, 5.69e-05, 7.93e-04, 0.2473}},
	})
}

// M2 returns the model of the 305 × 4 CPUs of Lawrence Livermore, Table 3 of [SS].
func M2() Model {
	return tableModel(SuperschedulerMachines()[1], []tableRow{
		{1, 4, 19.0, HyperErlang{1, 3.99e-05, 1.64e-03, 0.0555}, HyperErlang{1, 1.00e-04, 6.79e-03, 0.0697}},
		{5, 12, 10.4, HyperErlang{1, 2.18e-05, 9.08e-04, 0.0554}, HyperErlang{1, 1.43e-04, 5.39e-03, 0.1947}},
		{13, 24, 17.0, HyperErlang{1, 3.14e-05, 8.07e-04, 0.0319}, HyperErlang{1, 1.47e-04, 1.07e-03, 0.3335}},
		{25, 28, 2.07, HyperErlang{1, 1.76e-06, 2.59e-04, 0.0250}, HyperErlang{1, 1.82e-04, 3.13e-02, 0.0115}},
		{29, 44, 4.84, HyperErlang{1, 2.02e-05, 3.76e-04, 0.1080}, HyperErlang{1, 6.09e-05, 2.41e-04, 0.0082}},
		{45, 60, 2.75, HyperErlang{1, 1.14e-05, 1.08e-04, 0.0561}, HyperErlang{4, 3.65e-04, 4.47e-02, 0.5000}},
		{61, 92, 10.8, HyperErlang{1, 2.98e-05, 3.49e-04, 0.0200}, HyperErlang{1, 4.89e-06, 2.48e-04, 0.0009}},
		{93, 104, 5.07, HyperErlang{1, 1.72e-05, 1.64e-04, 0.0251}, HyperErlang{2, 1.09e-04, 3.64e-04, 0.0314}},
		{105, 124, 3.16, HyperErlang{1, 1.59e-06, 1.38e-04, 0.0074}, HyperErlang{1, 2.23e-04, 3.02e-03, 0.4179}},
		{125, 176, 13.6, HyperErlang{1, 1.09e-04, 5.27e-04, 0.1149}, HyperErlang{2, 8.07e-05, 3.19e-04, 0.0210}},
		{177, 188, 4.32, HyperErlang{2, 9.87e-05, 1.17e-03, 0.3762}, HyperErlang{3, 2.01e-04, 2.13e-02, 0.6043}},
		{189, 252, 3.67, HyperErlang{1, 9.15e-06, 1.38e-04, 0.0293}, HyperErlang{1, 9.26e-05, 3.28e-04, 0.0603}},
		{253, 1220, 3.41, HyperErlang{1, 8.73e-06, 1.93e-04, 0.0532}, HyperErlang{1, 1.97e-04, 1.75e-03, 0.4098}},
	})
}

// M3 returns the model of the 144 × 8 CPUs of San Diego's Blue Horizon, Table 4 of [SS].
func M3() Model {
	return tableModel(SuperschedulerMachines()[2], []tableRow{
		{1, 8, 55.0, HyperErlang{1, 4.01e-05, 1.47e-03, 0.0047}, HyperErlang{1, 3.99e-05, 1.01e-03, 0.0411}},
		{9, 24, 8.09, HyperErlang{1, 3.77e-05, 4.35e-04, 0.1281}, HyperErlang{2, 3.92e-05, 2.25e-03, 0.2113}},
		{25, 56, 9.99, HyperErlang{1, 4.15e-05, 6.33e-04, 0.1235}, HyperErlang{2, 4.13e-05, 2.16e-03, 0.1400}},
		{57, 120, 13.8, HyperErlang{1, 5.57e-05, 5.53e-04, 0.0833}, HyperErlang{1, 3.03e-05, 6.79e-04, 0.2539}},
		{121, 248, 4.99, HyperErlang{1, 2.73e-05, 3.64e-04, 0.1731}, HyperErlang{3, 6.91e-05, 1.01e-02, 0.2479}},
		{249, 504, 5.09, HyperErlang{1, 2.09e-05, 5.08e-04, 0.1431}, HyperErlang{1, 1.89e-05, 2.64e-04, 0.1033}},
		{505, 1152, 2.99, HyperErlang{1, 7.31e-06, 2.63e-04, 0.0766}, HyperErlang{2, 6.05e-05, 1.13e-02, 0.0671}},
	})
}
