import { AuthConfigError } from '../../foundation/platform/errors';

// Imported first. The testing tools create sessions without a password and move time, so they must not run in production.
if (process.env.NODE_ENV === 'production') {
  throw new AuthConfigError('@svc/auth/testing is for tests and does not load with NODE_ENV=production.');
}
