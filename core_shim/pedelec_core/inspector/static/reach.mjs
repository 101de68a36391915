// Why there is no connection to Core, and what the person does next.
//
// Any page may learn that Core is there; its answer is readable to Core's own pages and those of approved origins
// (docs/security.md). That tells the cases apart.

/** Ask Core's address. Resolves with `absent`, `unapproved` or `closed` (approved, but not let in to inspect). */
export async function whyNotConnected(coreUrl) {
  const address = new URL("/healthz", coreUrl);
  const isThere = (mode) => fetch(address, { mode, cache: "no-store" }).then(() => true, () => false);
  if (!(await isThere("no-cors"))) return "absent";
  return (await isThere("cors")) ? "closed" : "unapproved";
}

/** What to tell the person of each case: the state of Core and of the page's origin, and the next step. */
export const REASONS = {
  absent: { core: "Core: not running", next: "Core is not there. Next step: pedelec-core serve." },
  unapproved: {
    core: "Core: not connected",
    origin: "Origin not approved",
    next: `Core does not let this origin in. Next step: pedelec-core approve ${location.origin}`,
  },
  closed: {
    core: "Core: not connected",
    origin: "Origin approved",
    next: "Core does not let this page inspect. Next step: pedelec-core serve --inspector.",
  },
};
