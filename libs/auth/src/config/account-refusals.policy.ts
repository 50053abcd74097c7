import type { AuthConfig, GuardConfig } from './auth-config';

/** Why an account's life cannot be served as it is configured, each with its cure. Its routes are the default guard's. */
export function accountRefusals({ guards, encryption, routes }: AuthConfig): string[] {
  const config = guards.find(({ isDefault }) => isDefault);
  return config && routes ? [...passwordReset(config), ...emailVerification(config, encryption.key)] : [];
}

function passwordReset({ features, passwordReset: { frontendUrl }, mail }: GuardConfig): string[] {
  if (!features.passwordReset) return [];
  return texts(
    !isUrl(frontendUrl) &&
      `passwordReset.frontendUrl (SVC_RESET_URL) ${fault(frontendUrl)}. Name the page that the mailed link opens, such as https://app.example.com/reset-password.`,
    !mail.mailer && noMailer('passwordReset'),
  );
}

function emailVerification(config: GuardConfig, key: string | undefined): string[] {
  const {
    features,
    emailVerification: { apiUrl, frontendUrl },
    mail,
  } = config;
  if (!features.emailVerification) return [];
  return texts(
    !isUrl(apiUrl) &&
      `emailVerification.apiUrl (SVC_VERIFY_API_URL) ${fault(apiUrl)}. Name the URL that this API is reached at, such as https://api.example.com: mailed links begin with it.`,
    frontendUrl !== undefined &&
      !isUrl(frontendUrl) &&
      `emailVerification.frontendUrl (SVC_VERIFY_URL) ${fault(frontendUrl)}. Name the page that browsers are sent to, or leave it out.`,
    !key &&
      'features.emailVerification needs encryption.key (SVC_ENCRYPTION_KEY): its links are signed with it. Make one with svc:secret --show, and keep it apart from secret.',
    !mail.mailer && noMailer('emailVerification'),
  );
}

const noMailer = (feature: string): string =>
  `features.${feature} needs mail.mailer. Give it nodemailerMailer(transport, from), or a Mailer of your own.`;

const fault = (url: string | undefined): string => (url ? `is "${url}", which is no http(s) URL` : 'is missing');

function isUrl(text: string | undefined): boolean {
  if (!text || !URL.canParse(text)) return false;
  return ['http:', 'https:'].includes(new URL(text).protocol);
}

const texts = (...all: (string | false)[]): string[] => all.filter((text): text is string => text !== false);
