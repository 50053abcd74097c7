import { RegistrationFlow, RegisterController } from './registration.controller';
import { defineFeature, identity, limiter, session, type settings } from '../../kit';
import { FirstLogin, Registration } from './registration';
import { NewAccounts } from './new-accounts';
import { RegistrationClass } from './registration-class';
import { RegistrationForm } from './registration-form';
import { REGISTRATION_OPTIONS } from './registration.options';

/** Why `registration.concealExisting` would conceal nothing with this configuration, each with the correction. */
function concealmentErrors({ guards }: settings.AuthConfig): string[] {
  return (
    guards
      // Extra guards inherit the option. They have server calls only, which check it: see `userErrors`.
      .filter(({ isDefault, registration: { concealExisting } }) => isDefault && concealExisting)
      .flatMap(({ facts, decidedBy, hooks, username, nameOf }) => {
        const option = nameOf('registration.concealExisting');
        return [
          !facts.provesEmails &&
            `${option} needs ${decidedBy.provesEmails}: the owner of an email learns the result by mail. Turn it on, or remove ${option}.`,
          !facts.blocksUnverified &&
            `${option} needs ${decidedBy.blocksUnverified}: otherwise a login with the chosen password shows whether the account was created. Turn it on, or remove ${option}.`,
          !facts.mailsPasswordLinks &&
            `${option} needs ${decidedBy.mailsPasswordLinks}: an owner whose email is not verified has no other way to sign in. Turn it on, or remove ${option}.`,
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
function rulesErrors({ guards }: settings.AuthConfig): string[] {
  return guards.filter(({ isDefault }) => isDefault).flatMap(ruleErrorsOf);
}

function ruleErrorsOf({ registration: { rules }, features, hooks, username, nameOf }: settings.GuardConfig): string[] {
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

function userErrors(users: identity.UserProvider, guard: settings.GuardConfig): (string | false)[] {
  const { features, hooks } = guard;
  if (!features.registration) return [];
  const ofHook = [
    !users.offers('currentMark') &&
      "hooks.register needs users with a creation date. Give the entity a @CreateDateColumn({ type: 'timestamptz' }). " +
        `Without an entity: ${identity.implement('currentMark and wasCreatedSince', guard)}.`,
    !identity.overrides(users, 'identifierOf') &&
      `hooks.register must return a user with the identifier that was submitted. ${identity.implement('identifierOf', guard)}.`,
  ];
  const unaided = [
    !users.offers('create') &&
      `features.registration is on, but the users of the guard "${guard.guard}" cannot be created. Give the entity a ` +
        'column name, implement create in your UserProvider, or set hooks.register.',
  ];
  return [
    concealed(users, guard),
    ...(hooks.register ? ofHook : unaided),
    identity.sharedColumn(users, 'identifier', 'features.registration'),
  ];
}

/** Why a registration at this guard would not conceal which accounts exist. */
function concealed(users: identity.UserProvider, options: settings.GuardConfig): string | false {
  const { guard, facts, decidedBy, nameOf } = options;
  const option = nameOf('registration.concealExisting');
  if (!facts.concealsAccounts) return false;
  if (!facts.blocksUnverified)
    return `${option} needs ${decidedBy.blocksUnverified} at the guard "${guard}". Set both options at this guard, or neither.`;
  return (
    !identity.overrides(users, 'imitateCreation') &&
    `${option} needs the same work for an email with and without an account. Implement imitateCreation in the UserProvider ` +
      `of the guard "${guard}": it does the work of create for an account that exists, and changes nothing.`
  );
}

/** The rules of the fields of accounts. Those of the identifier also apply where the registration is off. */
export const accountFields = defineFeature('accountFields', {
  providers: [RegistrationForm],
  on: { identifierChosen: (services, request) => services.get(RegistrationForm).readIdentifier(request) },
});

/** Registration of new accounts. */
export const registration = defineFeature('registration', {
  flags: ['registration'],
  facts: { concealsAccounts: 'registration.concealExisting', signsInCreated: 'registration.login' },
  options: REGISTRATION_OPTIONS,
  userErrors,
  checkedWith: ['accountCreated'],
  limits: {
    // By client only: a count by identifier would let an attacker prevent the registration of an address.
    'svc-register': limiter.perClient(({ registration: limit }) => limit),
  },
  configErrors: (config) => [...concealmentErrors(config), ...rulesErrors(config)],
  writesUsers: ({ hooks }) => !hooks.register && 'INSERT',
  waits: { registration: { row: '`POST /register`', inARow: 10, longest: 3 } },
  capabilities: { registration: RegistrationFlow },
  defaultGuardControllers: [RegisterController],
  providers: [NewAccounts, FirstLogin, Registration, { provide: session.AccountOpening, useExisting: Registration }],
});
