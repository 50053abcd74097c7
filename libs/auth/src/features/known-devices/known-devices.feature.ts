import { Realm, data, defineFeature, mailedUrlErrors, mailing, type manifest, schema, type settings } from '../../kit';
import { CreateSvcKnownDevices1764300000000, KnownDevice } from './known-device.entity';
import { type ExportedDevice, KnownDeviceStore } from './known-device.store';
import { DeviceCookie, DeviceTokens, KnownDevices } from './known-devices';
import { DEVICE, KnownDeviceFlow, KnownDevicesController } from './known-devices.controller';
import { KNOWN_DEVICES_OPTIONS } from './known-devices.options';
import { SIGN_IN_REPORT_EVENTS, SignInReports } from './sign-in-report';

/** Why the mails about new sign-ins cannot be sent, each text with the correction. */
function mailErrorsOf(
  guard: settings.GuardConfig,
  production: boolean,
  manifests: readonly manifest.Feature[],
): string[] {
  const { facts, decidedBy, mail, isDefault, nameOf } = guard;
  const off = `or set ${nameOf('knownDevices.mail')} (SVC_KNOWN_DEVICES_MAIL) to false.`;
  // That of the default guard is checked with the feature.
  const linking = facts.mailsPasswordLinks && !isDefault ? manifests.filter(({ on }) => on?.passwordLink) : [];
  return [
    !facts.mailsPasswordLinks &&
      `features.knownDevices needs ${decidedBy.mailsPasswordLinks} at the guard "${guard.guard}": the link in the mail about a new sign-in mails a link to choose a new password. Turn it on, ${off}`,
    !mail.mailer &&
      `${nameOf('knownDevices.mail')} (SVC_KNOWN_DEVICES_MAIL) needs mail.mailer. Set it to nodemailerMailer(transport, from), or to your own Mailer, ${off}`,
    ...mailedUrlErrors(KNOWN_DEVICES_OPTIONS, guard, production).map((text) => `${text} ${off}`),
    ...linking
      .flatMap(({ options = {} }) => mailedUrlErrors(options, guard, production))
      .map(
        (text) =>
          `${text} The guard "${guard.guard}" needs it for the link in the mail about a new sign-in. Set it, ${off}`,
      ),
  ].filter((text): text is string => typeof text === 'string');
}

/** A service that only verifies tokens may share the environment of the issuer, and mails nothing. */
const configErrors: manifest.Feature['configErrors'] = ({ guards, verifyOnly }, production, _sources, manifests) => {
  const sending = guards.filter(
    ({ features, knownDevices, mail }) => features.knownDevices && knownDevices.mail && (!verifyOnly || mail.mailer),
  );
  // A guard that inherits the options would repeat the text.
  return [...new Set(sending.flatMap((guard) => mailErrorsOf(guard, production, manifests)))];
};

const reasons = {
  report_failed: 'the link in a mail about a sign-in is not valid, or has expired',
};

declare module '../../foundation/platform/catalogue' {
  interface Reasons extends Readonly<typeof reasons> {}
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
        ...mailing.EXAMPLE_LINK,
        ...mailing.EXAMPLE_CHANGE,
        minutes: 1440,
        ip: '203.0.113.7',
        userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:146.0) Gecko/20100101 Firefox/146.0',
      },
    },
  },
  cookies: [DeviceCookie],
  events: SIGN_IN_REPORT_EVENTS,
  configErrors,
  exportedIfUsed: { known_devices: schema.listOf(schema.record<ExportedDevice>(DEVICE)) },
  capabilities: { knownDevices: KnownDeviceFlow },
  controllers: [KnownDevicesController],
  providers: [DeviceCookie, DeviceTokens, KnownDevices, SignInReports],
  on: {
    sessionStored: (services, session) => services.get(KnownDevices).record(session),
    // They may belong to the other person. After the sessions have ended: no device is recorded for a session that has ended.
    takeover: async (services, { userId }) => {
      await services.get(KnownDeviceStore).forgetAll(userId);
      return false;
    },
    removeCredential: {
      kind: 'known_devices',
      remove: (services, { userId, id }) => services.get(KnownDeviceStore).forget(userId, id),
    },
  },
  data: {
    entities: [{ entity: KnownDevice, migration: CreateSvcKnownDevices1764300000000 }],
    stores: [KnownDeviceStore],
    export: {
      known_devices: async (services, userId) => {
        const devices = await services.get(KnownDeviceStore).export(userId);
        return data.ifUsed(devices, services.get(Realm).options.features.knownDevices);
      },
    },
    erase: [data.rowsOfUser(KnownDevice)],
    prune: { knownDevices: { title: 'known devices', run: (services) => services.get(KnownDeviceStore).prune() } },
  },
});
