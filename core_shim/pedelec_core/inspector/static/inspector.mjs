// `<pedelec-inspector>`: a page's tools as Core knows them, calls as an agent makes them, and the lives of all calls.
//
// Loading it defines the element; a page that does not load it has nothing of it.

export { PedelecInspector } from "./inspector/element.mjs";
