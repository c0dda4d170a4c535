// Patches a part of the page in place: what is the same stays the same node, with its focus and its scroll.
/* global Idiomorph */
export function patch(place, html) {
  Idiomorph.morph(place, html, { morphStyle: "innerHTML" });
}
