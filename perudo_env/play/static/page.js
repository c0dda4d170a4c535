// Every page: what tells, without its server, that it needs it.
"use strict";
if ("serviceWorker" in navigator) navigator.serviceWorker.register("/sw.js");
