// How search orders pages: those of the guide first, records of the project last.
var Scorer = {
  score: ([page, , , , points]) =>
    points + (page.startsWith("guide/") && page !== "guide/command_line" ? 8 : 0) - (/^(changes|results|papers|architecture|evidence_\w+)$/.test(page) ? 6 : 0),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
