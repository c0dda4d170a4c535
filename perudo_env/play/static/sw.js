// The service worker: pages come from the server as ever; where it cannot be reached, a page kept here says so.
"use strict";
const KEPT = "perudo-1";
self.addEventListener("install", (event) => event.waitUntil(
  caches.open(KEPT).then((cache) => cache.addAll(["/offline", "/static/play.css", "/static/die.svg"])).then(() => self.skipWaiting())));
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
self.addEventListener("fetch", (event) => {
  const path = new URL(event.request.url).pathname;
  if (event.request.mode === "navigate") event.respondWith(fetch(event.request).catch(() => caches.match("/offline")));
  else if (path === "/static/play.css" || path === "/static/die.svg") event.respondWith(fetch(event.request).catch(() => caches.match(path)));
});
