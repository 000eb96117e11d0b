import{e as o}from"./chunk-AEMJEILJ.js";function h(){return o("h1",{children:"Holdouts"})}export{h as View};
