import { type AuthModuleAsyncOptions, type FeatureOptions, type Limiter, authOptionsFromEnv } from '@svc/auth';
import { type IdentityProvider, oidc } from '@svc/auth/identities';
import { DataSource } from 'typeorm';
import { CacheModule, SharedCache } from './cache.module';
import type { Environment, SampleProvider } from './environment';
import { Admin } from './users/admin.entity';
import { abilitiesOf } from './users/admin-role';
import { deleteUser } from './users/delete-user';
import { StaffMember } from './users/staff-member.entity';
import { languageOf } from './users/user-language';
import { linkMails } from './link-mails';
import { User } from './users/user.entity';

/** These features send mails, so they need a mailer. */
const MAIL_FEATURES: FeatureOptions = {
  registration: true,
  emailVerification: true,
  passwordReset: true,
  emailCode: true,
};

/** Six requests a minute for each user: see `@Throttled('export')`. */
const sixPerMinute: Limiter = (_, { guard, userId }) => ({
  key: `${guard} ${userId}`,
  maxAttempts: 6,
  decaySeconds: 60,
});

/** Every feature whose needs are met. @param set what the environment switches on or off */
function featuresOf(hasMailer: boolean, set: FeatureOptions = {}): FeatureOptions {
  const features = {
    lockout: true,
    twoFactor: true,
    accessKeys: true,
    audit: true,
    ...(hasMailer && MAIL_FEATURES),
    ...set,
  };
  const { passkeys, registration, passwordReset } = features;
  return {
    conditionalCreate: passkeys === true,
    passkeyRegistration: passkeys === true && registration === true,
    emailChange: passwordReset === true,
    // The mail about a sign-in on a new device needs a reset of the password.
    knownDevices: !hasMailer || passwordReset === true,
    ...features,
  };
}

/** Its name is part of the routes: `POST /auth/identities/oidc`. */
export const PROVIDER = 'oidc';

/** Where the provider sends the browser, and what it may offer. A page cannot receive a form. */
function providersOf(provider: SampleProvider | undefined, url: string): Record<string, IdentityProvider> {
  if (!provider) return {};
  const { issuer, clientId, clientSecret, postsForms } = provider;
  const page = `${url}/signed-in`;
  const answer = postsForms
    ? ({ responseMode: 'form_post', redirectUris: [`${url}/auth/identities/${PROVIDER}/form`], pageUrl: page } as const)
    : { redirectUris: [page] };
  const endSession = { returnTo: `${url}/` };
  return { [PROVIDER]: oidc({ issuer, clientId, clientSecret, ...answer, endSession }) };
}

/** With which abilities an operator can act as a customer. */
export const ACTING_ABILITIES = ['orders.read', 'orders.write'];

export type SampleOptions = ReturnType<typeof sampleOptions>;

/** The options that the page knows, too. Each `SVC_*` variable of the environment overrides the default here. */
export function sampleOptions({ url, mailer, identityProvider }: Environment) {
  const { features, ...values } = authOptionsFromEnv();
  return {
    appName: 'Orders',
    ...values,
    features: { identities: identityProvider !== undefined, ...featuresOf(mailer !== undefined, features) },
    identities: { providers: providersOf(identityProvider, url), ...values.identities },
    // A user who does not want to stay signed in is signed out after twelve hours at the latest.
    sessions: { ttlWithoutRemember: 43_200, ...values.sessions },
    twoFactor: { trustedDeviceDays: 30, ...values.twoFactor },
    accessKeys: { prefix: 'orders', ...values.accessKeys },
    passkeys: { ...values.passkeys },
    passwordReset: { frontendUrl: `${url}/reset-password`, ...values.passwordReset },
    emailVerification: { apiUrl: url, frontendUrl: `${url}/verified`, ...values.emailVerification },
    emailCode: { frontendUrl: `${url}/sign-in-code`, ...values.emailCode },
    emailChange: { confirmUrl: `${url}/confirm-email`, undoUrl: `${url}/undo-email`, ...values.emailChange },
    knownDevices: { frontendUrl: `${url}/unknown-sign-in`, ...values.knownDevices },
  };
}

/** The options of `AuthModule.forRootAsync`. */
export function authOptions({ redisUrl, mailer }: Environment, options: SampleOptions): AuthModuleAsyncOptions {
  const { features, domain, ...values } = options;
  const admin = authOptionsFromEnv(process.env, 'admin');
  const staff = authOptionsFromEnv(process.env, 'staff');
  return {
    features,
    domain,
    users: { entity: User },
    guards: {
      admin: {
        audience: 'https://admin.example.com',
        ...admin,
        path: 'admin/auth',
        users: { entity: Admin },
        // The support page keeps no token that a script can read.
        cookieMode: admin.cookieMode ?? true,
        // The page, which mailed links open, is that of the customers.
        features: { operators: true, knownDevices: false, identities: false, accessKeys: false, ...admin.features },
        operators: { abilities: ACTING_ABILITIES, ...admin.operators },
      },
      // Signs in with a username. Its users have no email, and no second factor.
      staff: {
        audience: 'https://staff.example.com',
        ...staff,
        path: 'staff/auth',
        username: 'handle',
        users: { entity: StaffMember },
        features: { knownDevices: false, identities: false, accessKeys: false, twoFactor: false, ...staff.features },
        twoFactor: { required: false, ...staff.twoFactor },
      },
    },
    imports: [CacheModule.forRedis(redisUrl)],
    inject: [SharedCache, DataSource],
    useFactory: ({ cache }: SharedCache, source: DataSource) => ({
      ...values,
      cache,
      hooks: {
        // A customer who signs in gets all abilities on orders, an operator those of the role. A pinned session keeps the
        // abilities that it was given.
        abilities: async (id, { guard }) => {
          if (guard === 'admin') return abilitiesOf(await source.getRepository(Admin).findOneBy({ id }));
          return guard === 'api' ? ['orders.*'] : [];
        },
        deleteUser,
      },
      // Mails about changes need a mailer, too.
      mail: {
        mailer,
        notices: mailer !== undefined,
        recipientName: 'name',
        templates: linkMails,
        language: (user, { guard }) => (guard === 'api' ? languageOf(user as User) : null),
      },
      languages: true,
      rateLimits: { ...values.rateLimits, limiters: { export: sixPerMinute } },
    }),
  };
}
