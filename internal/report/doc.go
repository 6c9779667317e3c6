// Package report draws what the simulator found: figures as SVG and one HTML page
// that shows them beside the paper's. It takes plain numbers and returns bytes; the
// same numbers give the same bytes.
//
// A figure is described by [Bars], [Curves] or [Gantt]; its Figure method says where
// its shapes and words are, figure.svg writes them and figure.css says how they look, in
// light and dark mode. [PaperFigure] arranges runs as [SS] Figures 3, 4 and 5 do, with the
// values that the paper's text gives as marks. [Page] puts figures, their numbers and
// where they come from on one page without scripts or network.
package report
