import { data, defineFeature, option } from '../../../kit';
import { CreateSvcDeviceKeys1765100000000, DeviceKey, DeviceKeyStore } from './device-keys';
import { BoundAnswer, BoundCookie, DeviceSessionController, DeviceSessions } from './device-sessions';

/** Sessions of browsers whose cookies are of use for minutes without a key of the device. */
export const deviceCookies = defineFeature('deviceCookies', {
  flags: ['deviceBoundCookies'],
  options: {
    features: { deviceBoundCookies: option.feature({ default: false, env: 'FEATURE_DEVICE_BOUND_COOKIES' }) },
  },
  configErrors: ({ guards }) =>
    guards
      .filter(({ features, cookieMode }) => features.deviceBoundCookies && !cookieMode)
      .map(
        ({ nameOf }) =>
          `${nameOf('features.deviceBoundCookies')} (SVC_FEATURE_DEVICE_BOUND_COOKIES) needs ${nameOf('cookieMode')} (SVC_COOKIE_MODE). Turn it on, or the feature off.`,
      ),
  page: 'bound-sessions.md',
  cookies: [BoundCookie],
  controllers: [DeviceSessionController],
  providers: [BoundCookie, DeviceSessions, BoundAnswer],
  on: {
    sessionStored: async (services, session) => services.get(DeviceSessions).offer(session),
    sessionHolder: (services, request, session) => services.get(DeviceSessions).isHolder(request, session),
  },
  data: {
    entities: [{ entity: DeviceKey, migration: CreateSvcDeviceKeys1765100000000 }],
    stores: [DeviceKeyStore],
    erase: [data.rowsOfUser(DeviceKey)],
    prune: { deviceKeys: { title: 'device keys', run: (services) => services.get(DeviceKeyStore).prune() } },
  },
});
