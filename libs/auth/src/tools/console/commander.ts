import { AuthConfigError } from '../../foundation/platform/errors';
import { optionalPeer } from '../../foundation/platform/optional-peer';

// Imported before the commands: their import of the package would fail without a hint how to install it.
if (!optionalPeer('nest-commander')) {
  throw new AuthConfigError('@svc/auth/console needs nest-commander. Run: npm install nest-commander');
}
