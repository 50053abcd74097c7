// Jest does not map module names for this file, so our own loader runs it.
require('../support/runtime/register-ts.cjs');
module.exports = require('./global-teardown.ts').default;
