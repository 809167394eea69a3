// Where the reporter leaves what it gets. Who starts the tests connects first; nobody connects again.
'use strict';
let receive = null;
module.exports = Object.freeze({
  take: (event) => receive?.(event),
  connect(take) {
    receive ??= take;
  },
});
