const { relative } = require('node:path');

const SLOWEST = 10;

const seconds = ({ perfStats }) => (perfStats.end - perfStats.start) / 1000;

/**
 * After every run, prints the slowest files, a summary line, and the names of tests that were skipped. With the option
 * `most`, a run of more tests fails.
 */
module.exports = class CountingReporter {
  constructor(_globalConfig, { most = Infinity } = {}) {
    this.most = most;
  }

  onRunComplete(_contexts, { numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests, testResults }) {
    const skipped = testResults.flatMap((file) => file.testResults.filter(({ status }) => status === 'pending'));
    for (const { fullName } of skipped)
      console.log(
        `SKIPPED (a program is missing, such as redis-server or a browser; see CONTRIBUTING.md): ${fullName}`,
      );
    if (testResults.length > SLOWEST) {
      console.log(`The slowest ${SLOWEST} of ${testResults.length} files:`);
      const slowest = testResults.toSorted((a, b) => seconds(b) - seconds(a)).slice(0, SLOWEST);
      for (const file of slowest)
        console.log(
          `${seconds(file).toFixed(1).padStart(6)} s  ${file.displayName.name} ${relative('', file.testFilePath)}`,
        );
    }
    const count = numPassedTests + numFailedTests;
    if (count > this.most) this.error = new Error(`This suite has ${count} tests, and may have ${this.most}.`);
    // A suite that failed to load counts as a failure, although none of its tests was counted.
    const failed = numFailedTests + (numFailedTests ? 0 : numFailedTestSuites);
    console.log(`${numPassedTests} passed, ${failed} failed${numPendingTests ? `, ${numPendingTests} skipped` : ''}`);
  }

  getLastError() {
    return this.error;
  }
};
