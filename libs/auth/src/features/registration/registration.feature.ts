import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { defineFeature } from '../../foundation/realm/feature';
import { perClient } from '../../request/throttling/limiters';
import { ExistingAccountMails } from '../mail/existing-account-mails';
import { FirstLogin, Registration } from './registration';
import { NewAccounts } from './new-accounts';
import { PasskeyRegistrationController, RegisterController } from './registration.controller';
import { PasskeyRegistration } from './passkey-registration';
import { RegistrationClass } from './registration-class';
import { RegistrationForm } from './registration-form';
import { REGISTRATION_OPTIONS } from './registration.options';
import { PASSKEY_REGISTRATION_OPTIONS } from './registration.options';

/** Why `registration.concealExisting` would conceal nothing with this configuration, each with the correction. */
function concealmentErrors({ guards }: AuthConfig): string[] {
  return (
    guards
      // Extra guards inherit the option. They have server calls only, which check it: see `userProviderErrors`.
      .filter(({ isDefault, registration: { concealExisting } }) => isDefault && concealExisting)
      .flatMap(({ features, emailVerification, hooks, username, nameOf }) => {
        const option = nameOf('registration.concealExisting');
        return [
          !features.emailVerification &&
            `${option} needs features.emailVerification: the owner of an email learns the result by mail. Turn it on, or remove ${option}.`,
          !emailVerification.blockUnverifiedLogin &&
            `${option} needs emailVerification.blockUnverifiedLogin: otherwise a login with the chosen password shows whether the account was created. Turn it on, or remove ${option}.`,
          !features.passwordReset &&
            `${option} needs features.passwordReset: an owner whose email is not verified has no other way to sign in. Turn it on, or remove ${option}.`,
          username !== 'email' &&
            `${option} needs the identifier "email", because the owner of the identifier gets a mail, but username is "${username}". Remove ${option}.`,
          hooks.register &&
            `${option} cannot be combined with hooks.register, whose duration and errors show whether it was called. Remove one of them.`,
        ];
      })
      .filter((text): text is string => typeof text === 'string')
  );
}

/** Why `registration.rules` cannot be used, each with the correction. */
function rulesErrors({ guards }: AuthConfig): string[] {
  return guards.filter(({ isDefault }) => isDefault).flatMap(ruleErrorsOf);
}

function ruleErrorsOf({ registration: { rules }, features, hooks, username, nameOf }: GuardConfig): string[] {
  if (rules === undefined || !features.registration) return [];
  const option = nameOf('registration.rules');
  if (typeof rules !== 'function') return [`${option} must be a class with the decorators of class-validator.`];
  if (hooks.registerRules) return [`${option} cannot be combined with hooks.registerRules. Remove one of them.`];
  const byClass = RegistrationClass.of(rules);
  if (!byClass) return [`${option} needs class-validator. Run: npm install class-validator`];
  const { names } = byClass;
  if (!names.length) {
    return [
      `${option}: the class ${rules.name} has no decorator of class-validator. Decorate its fields, and check with ` +
        '"npm ls class-validator" that there is one copy of the package.',
    ];
  }
  const optional = [username, 'password'].filter((name) => byClass.isOptional(name));
  const missing = hooks.register ? [] : ['name', username, 'password'].filter((name) => !names.includes(name));
  return [
    ...optional.map((name) => `${option} makes ${name} optional. Remove the decorator, or the field.`),
    ...missing.map((name) => `${option} has no field ${name}. Declare it, or set hooks.register.`),
  ];
}

const reasons = {
  identifier_taken: 'an account with the identifier exists',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** Registration of new accounts. */
export const registration = defineFeature('registration', {
  flags: ['registration'],
  reasons,
  options: REGISTRATION_OPTIONS,
  limits: {
    // By client only: a count by identifier would let an attacker prevent the registration of an address.
    'svc-register': perClient(({ registration: limit }) => limit),
  },
  configErrors: (config) => [...concealmentErrors(config), ...rulesErrors(config)],
  defaultGuardControllers: [RegisterController],
  providers: [RegistrationForm, NewAccounts, FirstLogin, ExistingAccountMails, Registration],
});

const NEEDED = ['registration', 'passkeys'] as const;

/** Registration with a passkey and without a password. */
export const passkeyRegistration = defineFeature('passkeyRegistration', {
  flags: ['passkeyRegistration'],
  options: PASSKEY_REGISTRATION_OPTIONS,
  needs: NEEDED,
  configErrors: ({ guards }) =>
    guards
      .filter(({ isDefault, features }) => isDefault && features.passkeyRegistration)
      .flatMap(({ features }) => NEEDED.filter((name) => !features[name]))
      .map(
        (name) =>
          `features.passkeyRegistration needs features.${name}. Turn it on, or remove features.passkeyRegistration.`,
      ),
  defaultGuardControllers: [PasskeyRegistrationController],
  providers: [PasskeyRegistration],
});
