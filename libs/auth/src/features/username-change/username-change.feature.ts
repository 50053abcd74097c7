import { defineFeature, event, identity, limiter, mailing, option, type settings } from '../../kit';
import { UsernameChangeFlow, UsernameController } from './username-change.controller';
import { UsernameChanged, UsernameChange } from './username-change';

declare module '../../foundation/config/auth-options' {
  interface RateLimitsOptions {
    /**
     * `POST /username`.
     *
     * @default { maxAttempts: 10, decaySeconds: 3600 }
     * @env SVC_USERNAME_CHANGE_MAX_ATTEMPTS, SVC_USERNAME_CHANGE_DECAY
     */
    usernameChange?: RateLimit;
  }
}

const USERNAME_CHANGE_OPTIONS = {
  features: { usernameChange: option.feature({ default: false, env: 'FEATURE_USERNAME_CHANGE' }) },
  rateLimits: { usernameChange: option.rateLimit('USERNAME_CHANGE', { maxAttempts: 10, decaySeconds: 3600 }) },
} satisfies option.OptionTree;

/** Why the identifier of the users cannot be changed without a mail to its owner. */
function userErrors(users: identity.UserProvider, guard: settings.GuardConfig): (string | false)[] {
  const { features, username, decidedBy } = guard;
  if (!features.usernameChange) return [];
  const isEmail =
    users instanceof identity.TypeormUserProvider ? users.isIdentifiedByEmail : !identity.overrides(users, 'emailOf');
  if (username === 'email' || isEmail)
    return [
      `features.usernameChange is on, but the users of the guard "${guard.guard}" sign in with their email (username: ` +
        `"${username}"), which is changed with a mailed link. Use ${decidedBy.changesEmails}. If users have both, give the entity a column email, or ` +
        'implement emailOf in your UserProvider.',
    ];
  return [
    users.offers('changeIdentifier')
      ? identity.sharedColumn(users, 'identifier', 'features.usernameChange')
      : `features.usernameChange is on, but the users of the guard "${guard.guard}" cannot get another ${username}. ` +
        `${identity.implement('changeIdentifier', guard)}, or turn the feature off.`,
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
    'svc-username-change': limiter.perClientAndUser(({ usernameChange: limit }) => limit),
  },
  writesUsers: () => 'UPDATE',
  mails: { usernameChanged: mailing.CHANGE_MAIL },
  informs: { usernameChanged: [event.informOn(UsernameChanged, event.userIdOf)] },
  page: 'email-change.md',
  capabilities: { usernameChange: UsernameChangeFlow },
  defaultGuardControllers: [UsernameController],
  providers: [UsernameChange],
});
