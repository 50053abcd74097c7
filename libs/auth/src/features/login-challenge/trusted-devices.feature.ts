import { isMissing } from '../../foundation/platform/pg-errors';
import { valueIf } from '../../foundation/platform/deadline';
import { listOf } from '../../foundation/platform/schema';
import { CHANGE_MAIL } from '../../foundation/ports/mail';
import { informOn, userIdOf } from '../../foundation/realm/informing';
import { defineFeature } from '../../foundation/realm/feature';
import { ifUsed, rowsOfUser } from '../../foundation/realm/feature-data';
import { Realm } from '../../foundation/realm/realm';
import { LoginRequest } from '../login/login';
import { CreateSvcTrustedDevices1764400000000, TrustedDevice } from './trusted-device.entity';
import { TRUSTED_DEVICE, TrustedDeviceStore, endTrust } from './trusted-device.store';
import {
  DeviceTrusted,
  TRUSTED_DEVICE_EVENTS,
  TrustedDeviceCookie,
  TrustedDeviceField,
  TrustedDevices,
} from './trusted-devices';
import { TrustedDeviceFlow, TrustedDevicesController } from './trusted-devices.controller';

/** Devices from which the password alone signs a user in (`twoFactor.trustedDeviceDays`). */
export const trustedDevices = defineFeature('trustedDevices', {
  onWith: ({ factor }) => factor !== undefined,
  exportedIfUsed: { trusted_devices: listOf(TRUSTED_DEVICE) },
  capabilities: { trustedDevices: TrustedDeviceFlow },
  controllers: [TrustedDevicesController],
  mails: { deviceTrusted: CHANGE_MAIL },
  informs: { deviceTrusted: [informOn(DeviceTrusted, userIdOf)] },
  events: TRUSTED_DEVICE_EVENTS,
  cookies: [TrustedDeviceCookie],
  fields: [{ to: LoginRequest, from: TrustedDeviceField }],
  providers: [TrustedDeviceCookie, TrustedDevices],
  on: {
    // After the end of the challenges: a challenge that is completed meanwhile forgets its device itself.
    endAll: endTrust,
    removeCredential: {
      kind: 'trusted_devices',
      remove: (services, { userId, id }) => services.get(TrustedDeviceStore).remove(userId, id),
    },
  },
  data: {
    entities: [{ entity: TrustedDevice, migration: CreateSvcTrustedDevices1764400000000 }],
    stores: [TrustedDeviceStore],
    export: {
      trusted_devices: async (services, userId) => {
        const devices = await services.get(TrustedDeviceStore).list(userId).catch(valueIf(isMissing, []));
        return ifUsed(devices, services.get(Realm).options.twoFactor.trustedDeviceDays > 0);
      },
    },
    erase: [rowsOfUser(TrustedDevice)],
    prune: {
      trustedDevices: { title: 'trusted devices', run: (services) => services.get(TrustedDeviceStore).prune() },
    },
  },
});
