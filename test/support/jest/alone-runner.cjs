const { default: TestRunner } = require('jest-runner');

/** Runs one test file at a time, after the files that run side by side: for what measures time, floods or freezes. */
module.exports = class AloneRunner extends TestRunner {
  isSerial = true;
};
