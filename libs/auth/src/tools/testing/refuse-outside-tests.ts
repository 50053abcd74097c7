import { isProduction, readFlag } from '../../foundation/config/option-values.policy';
import { AuthConfigError } from '../../foundation/platform/errors';

// Imported first. The testing tools create sessions without a password and move time, so they load only where a test runs:
// an environment without NODE_ENV can be production.
const { NODE_ENV, SVC_ALLOW_TESTING: allowed = '' } = process.env;
if (NODE_ENV !== 'test' && (isProduction(NODE_ENV) || readFlag(allowed) !== true)) {
  throw new AuthConfigError(
    '@svc/auth/testing is for tests: it loads with NODE_ENV=test, and outside production with SVC_ALLOW_TESTING=1.',
  );
}
