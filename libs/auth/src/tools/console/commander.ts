import { AuthConfigError } from '../../foundation/platform/errors';
import { optionalPeer } from '../../foundation/platform/optional-peer';

// Loaded before the commands, whose own import of it would fail without a cure.
if (!optionalPeer('nest-commander')) {
  throw new AuthConfigError('@svc/auth/console needs nest-commander. Run: npm install nest-commander');
}
