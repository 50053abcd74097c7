import { defineFeature, identity, limiter, mailing, type settings } from '../../kit';
import { EmailVerification, VerificationMails } from './email-verification';
import { VERIFICATION_LINK_COMMAND } from './verification-link.command';
import { VerificationLinks } from './verification-links';
import {
  EmailVerificationFlow,
  VerificationMailController,
  VerifiedAnswer,
  VerifyEmailController,
} from './email-verification.controller';
import { EMAIL_VERIFICATION_OPTIONS, VERIFICATION_BY_ADDRESS_OPTIONS } from './email-verification.options';

const reasons = {
  bad_link: 'the signature of a mailed link is not valid, or the link has expired',
  email_unverified: 'the route has `@RequireVerifiedEmail()`, and the email is not verified',
  outdated_link: 'the signature of the mailed link is valid, but the account has another address now',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
}

function userErrors(users: identity.UserProvider, options: settings.GuardConfig): (string | false)[] {
  const { guard, features, isDefault, emailVerification: block } = options;
  return [
    features.emailVerification &&
      !users.offers('markEmailVerified') &&
      `features.emailVerification is on, but the users of the guard "${guard}" have no verified email. Give ` +
        'the entity a column emailVerifiedAt (timestamptz, nullable), or implement isEmailVerified and ' +
        'markEmailVerified in your UserProvider.',
    features.emailVerification &&
      !identity.knowsEmailState(users) &&
      unknownEmails('features.emailVerification', guard, 'turn the feature off'),
    isDefault &&
      block.blockUnverifiedLogin &&
      !identity.knowsEmailState(users) &&
      unknownEmails(BLOCK, guard, 'turn it off'),
  ];
}

const BLOCK = 'emailVerification.blockUnverifiedLogin';

const unknownEmails = (option: string, guard: string, off: string): string =>
  `${option} is on, but it is not known which users of the guard "${guard}" have a verified email. Give the entity a ` +
  `column emailVerifiedAt (timestamptz, nullable), implement isEmailVerified in your UserProvider, or ${off}.`;

/** An extra guard inherits the option, also for users without such a state. */
const userWarnings = (users: identity.UserProvider, options: settings.GuardConfig): (string | false)[] => [
  options.facts.blocksUnverified &&
    !identity.blocksUnverified(users, options) &&
    `${unknownEmails(`guards.${options.guard}.${BLOCK}`, options.guard, 'set it to false at this guard')} It has no effect there.`,
];

/** Verification of an email address with a mailed link. */
export const emailVerification = defineFeature('emailVerification', {
  flags: ['emailVerification'],
  reasons,
  languages: () =>
    (require('./email-verification.languages') as typeof import('./email-verification.languages'))
      .emailVerificationLanguages,
  options: EMAIL_VERIFICATION_OPTIONS,
  facts: {
    provesEmails: 'features.emailVerification',
    proofMinutes: 'emailVerification.expire',
    blocksUnverified: BLOCK,
  },
  userErrors,
  userWarnings,
  needsMailer: true,
  needsEncryptionKey: 'its links are signed with it',
  mails: { emailVerification: { class: 'requested', example: mailing.EXAMPLE_LINK } },
  limits: {
    'svc-email-verification': limiter.perClientAndUser(({ emailVerification: limit }) => limit),
  },
  writesUsers: () => 'UPDATE',
  capabilities: { emailVerification: EmailVerificationFlow },
  defaultGuardControllers: [VerifyEmailController],
  providers: [VerificationLinks, EmailVerification, VerifiedAnswer, VerificationMails],
  on: { accountCreated: (services, user) => services.get(VerificationMails).send(user) },
  commands: { 'verification-link': VERIFICATION_LINK_COMMAND },
});

/** Another verification mail for a person without a session. */
export const verificationByAddress = defineFeature('verificationByAddress', {
  flags: ['verificationByAddress'],
  options: VERIFICATION_BY_ADDRESS_OPTIONS,
  needs: ['emailVerification'],
  defaultGuardControllers: [VerificationMailController],
});
