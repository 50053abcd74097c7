import type { AuthConfig, GuardConfig } from '../../foundation/config/auth-config';
import { urlFault } from '../../foundation/config/url-checks';
import { EXAMPLE_CHANGE, EXAMPLE_LINK } from '../../foundation/ports/mail';
import { listOf, record } from '../../foundation/platform/schema';
import { defineFeature } from '../../foundation/realm/feature';
import { rowsOfUser } from '../../foundation/realm/feature-data';
import { CreateSvcKnownDevices1764300000000, KnownDevice } from './known-device.entity';
import { type ExportedDevice, KnownDeviceStore } from './known-device.store';
import { DeviceCookie, DeviceTokens, KnownDevices } from './known-devices';
import { DEVICE, KnownDeviceFlow, KnownDevicesController } from './known-devices.controller';
import { NewSignInMails } from './new-sign-in-mails';
import { KNOWN_DEVICES_OPTIONS } from './known-devices.options';
import { SIGN_IN_REPORT_EVENTS, SignInReports } from './sign-in-report';

/** Whether a guard mails. A service that only verifies tokens may share the environment of the issuer, and mails nothing. */
const isMailing = ({ features, knownDevices, mail }: GuardConfig, routes: boolean): boolean =>
  features.knownDevices && knownDevices.mail && (routes || mail.mailer !== undefined);

const withoutMail = ({ nameOf }: GuardConfig): string =>
  `or set ${nameOf('knownDevices.mail')} (SVC_KNOWN_DEVICES_MAIL) to false.`;

/** Why the mails about new sign-ins cannot be sent, each text with the correction. */
function mailErrorsOf(guard: GuardConfig, production: boolean): string[] {
  const { facts, decidedBy, knownDevices, mail, nameOf } = guard;
  const off = withoutMail(guard);
  const ofPage = urlFault(knownDevices.frontendUrl, { production });
  return [
    !facts.mailsPasswordLinks &&
      `features.knownDevices needs ${decidedBy.mailsPasswordLinks} at the guard "${guard.guard}": the link in the mail about a new sign-in mails a link to choose a new password. Turn it on, ${off}`,
    !mail.mailer &&
      `${nameOf('knownDevices.mail')} (SVC_KNOWN_DEVICES_MAIL) needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer, ${off}`,
    ofPage &&
      `${nameOf('knownDevices.frontendUrl')} (SVC_KNOWN_DEVICES_URL) ${ofPage}. Set it to the page that the link in the mail about a new sign-in opens, such as https://app.example.com/unknown-sign-in, ${off}`,
  ].filter((text): text is string => typeof text === 'string');
}

function configErrors({ guards, routes }: AuthConfig, production: boolean): string[] {
  const mailing = guards.filter((guard) => isMailing(guard, routes));
  // A guard that inherits the options would repeat the text.
  return [...new Set(mailing.flatMap((guard) => mailErrorsOf(guard, production)))];
}

const reasons = {
  report_failed: 'the link in a mail about a sign-in is not valid, or has expired',
};
type OwnReasons = typeof reasons;

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends OwnReasons {}
}

/** Recognition of devices at sign-ins, with a mail about a new one. */
export const knownDevices = defineFeature('knownDevices', {
  flags: ['knownDevices'],
  reasons,
  languages: () =>
    (require('./known-devices.languages') as typeof import('./known-devices.languages')).knownDeviceLanguages,
  options: KNOWN_DEVICES_OPTIONS,
  mails: {
    newSignIn: {
      class: 'security',
      example: {
        ...EXAMPLE_LINK,
        ...EXAMPLE_CHANGE,
        minutes: 1440,
        ip: '203.0.113.7',
        userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:146.0) Gecko/20100101 Firefox/146.0',
      },
    },
  },
  cookies: [DeviceCookie],
  events: SIGN_IN_REPORT_EVENTS,
  configErrors,
  needsPasswordLinks: (guard, routes) =>
    isMailing(guard, routes)
      ? { use: 'the link in the mail about a new sign-in', otherwise: withoutMail(guard) }
      : null,
  exported: { known_devices: listOf(record<ExportedDevice>(DEVICE)) },
  capabilities: { knownDevices: KnownDeviceFlow },
  controllers: [KnownDevicesController],
  providers: [DeviceCookie, DeviceTokens, NewSignInMails, KnownDevices, SignInReports],
  on: {
    sessionStored: (services, session) => services.get(KnownDevices).record(session),
    // They may belong to the other person. After the sessions have ended: no device is recorded for a session that has ended.
    takeover: async (services, { userId }) => {
      await services.get(KnownDeviceStore).forgetAll(userId);
      return false;
    },
  },
  data: {
    entities: [{ entity: KnownDevice, migration: CreateSvcKnownDevices1764300000000 }],
    stores: [KnownDeviceStore],
    export: { known_devices: (services, userId) => services.get(KnownDeviceStore).export(userId) },
    erase: [rowsOfUser(KnownDevice)],
    prune: { knownDevices: { title: 'known devices', run: (services) => services.get(KnownDeviceStore).prune() } },
  },
});
