// The owner's key signs in this browser, and is never sent: what leaves it is a signature.

const hex = (bytes: ArrayBuffer) => [...new Uint8Array(bytes)].map(b => b.toString(16).padStart(2, '0')).join('')

// sign signs a text with the key of a file as 'discreet ledger key' writes it.
export async function sign(file: File, text: string): Promise<string> {
  const pem = await file.text()
  const inside = /-----BEGIN PRIVATE KEY-----([A-Za-z0-9+/=\s]+)-----END PRIVATE KEY-----/.exec(pem)
  if (!inside) throw new Error('this file does not contain a private key; choose the file that discreet ledger key wrote')
  const der = Uint8Array.from(atob(inside[1].replace(/\s/g, '')), c => c.charCodeAt(0))
  let key: CryptoKey
  try {
    key = await crypto.subtle.importKey('pkcs8', der, { name: 'Ed25519' }, false, ['sign'])
  } catch {
    throw new Error('this browser cannot sign with Ed25519, or the file contains another kind of key; sign on the command line and paste the signature')
  }
  return hex(await crypto.subtle.sign('Ed25519', key, new TextEncoder().encode(text)))
}
