import { AuthConfigError } from '../kernel/auth.exception';
import { optionalPeer } from '../kernel/optional-peer';

// Loaded before the commands, whose own import of it would fail without a cure.
if (!optionalPeer('nest-commander')) {
  throw new AuthConfigError('@svc/auth/console needs nest-commander. Run: npm install nest-commander');
}
