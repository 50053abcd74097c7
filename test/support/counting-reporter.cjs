// Closes every run with one plain line, and says by name what was skipped for want of Redis.
module.exports = class CountingReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numFailedTestSuites, numPendingTests, testResults }) {
    const skipped = testResults.flatMap((file) => file.testResults.filter(({ status }) => status === 'pending'));
    for (const { fullName } of skipped) console.log(`SKIPPED (needs redis-server on PATH, or REDIS_URL): ${fullName}`);
    // A suite that could not even load has failed, though none of its tests was counted.
    const failed = numFailedTests + (numFailedTests ? 0 : numFailedTestSuites);
    console.log(`${numPassedTests} passed, ${failed} failed${numPendingTests ? `, ${numPendingTests} skipped` : ''}`);
  }
};
