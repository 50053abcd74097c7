import type { GuardConfig } from '../../foundation/config/auth-config';
import type { UserProvider } from '../../foundation/ports/user-provider';
import { implement, overrides, sharedColumn } from '../../identity/users/provider-checks';
import { TypeormUserProvider } from '../../identity/users/typeorm-user-provider';
import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { informOn, userIdOf } from '../../foundation/realm/informing';
import { defineFeature } from '../../foundation/realm/feature';
import { perClientAndUser } from '../../request/throttling/limiters';
import { UsernameChangeFlow, UsernameController } from './username-change.controller';
import { UsernameChanged, UsernameChange } from './username-change';
import { USERNAME_CHANGE_OPTIONS } from './username-change.options';

/** Why the identifier of the users cannot be changed without a mail to its owner. */
function userErrors(users: UserProvider, guard: GuardConfig): (string | false)[] {
  const { features, username, decidedBy } = guard;
  if (!features.usernameChange) return [];
  const isEmail = users instanceof TypeormUserProvider ? users.isIdentifiedByEmail : !overrides(users, 'emailOf');
  if (username === 'email' || isEmail)
    return [
      `features.usernameChange is on, but the ${username} of the users of the guard "${guard.guard}" is their email, which is ` +
        `changed with a mailed link. Use ${decidedBy.changesEmails}. If users have both, give the entity a column email, or ` +
        'implement emailOf in your UserProvider.',
    ];
  return [
    users.changesIdentifiers()
      ? sharedColumn(users, 'identifier', 'features.usernameChange')
      : `features.usernameChange is on, but the users of the guard "${guard.guard}" cannot get another ${username}. ` +
        `${implement('changesIdentifiers and changeIdentifier', guard)}, or turn the feature off.`,
  ];
}

/** Change of the identifier, where it is not the email. `userErrors` refuses other identifiers. */
export const usernameChange = defineFeature('usernameChange', {
  flags: ['usernameChange'],
  languages: () =>
    (require('./username-change.languages') as typeof import('./username-change.languages')).usernameChangeLanguages,
  userErrors,
  options: USERNAME_CHANGE_OPTIONS,
  limits: {
    'svc-username-change': perClientAndUser(({ usernameChange: limit }) => limit),
  },
  writesUsers: () => 'UPDATE',
  mails: { usernameChanged: CHANGE_MAIL },
  informs: { usernameChanged: [informOn(UsernameChanged, userIdOf)] },
  page: 'email-change.md',
  capabilities: { usernameChange: UsernameChangeFlow },
  defaultGuardControllers: [UsernameController],
  providers: [UsernameChange],
});
