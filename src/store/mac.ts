import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * HMAC-SHA-256 of a text, as 64 hexadecimal digits. Not by `node:crypto`: every command computes it, and most of them need
 * nothing else from there (`hasSchema`).
 */
export const macOf = (key: Uint8Array, text: string): string => bytesToHex(hmac(sha256, key, utf8ToBytes(text)));
