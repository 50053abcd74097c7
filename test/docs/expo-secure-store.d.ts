// The functions of Expo's package that a recipe uses. The package itself needs Expo.
declare module 'expo-secure-store' {
  export interface SecureStoreOptions {
    readonly keychainAccessible?: number;
    readonly keychainService?: string;
    readonly requireAuthentication?: boolean;
  }
  export const AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY: number;
  export function getItemAsync(key: string, options?: SecureStoreOptions): Promise<string | null>;
  export function setItemAsync(key: string, value: string, options?: SecureStoreOptions): Promise<void>;
  export function deleteItemAsync(key: string, options?: SecureStoreOptions): Promise<void>;
}
